/** Accents of scripts that people also type without. */
const accents = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\u0300-\u036f]+/gu;

/** In lower case and without accents: what was typed either way is found either way. */
export const folded = (text: string): string =>
  text.toWellFormed().normalize('NFKD').replace(accents, '$1').toLowerCase().normalize('NFC');
