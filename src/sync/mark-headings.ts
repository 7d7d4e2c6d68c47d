import { plain } from '../tabular/columns.ts';

/** What a cell has to say below such a heading, for a person to want no mail. */
export type Says = 'yes' | 'no' | 'anything';

/** Whole headings, as `plain` leaves them, in which no words can be told apart. */
const badWhenYes =
  /^(?:is|has|email)?(?:unsubscribed|unsubscribe|optedout|optout|bounced|hardbounced|suppressed|donotcontact|donotemail|donotmail|complained|optedoutofemail|blacklisted|blocklisted|emailblacklisted)(?:from(?:all)?emails?|ofemail|emails?|all)?$/u;
const badWhenNo =
  /^(?:is|has)?(?:(?:email)?subscribed(?:toemails?)?|activesubscription|subscriptionactive|emailoptin|optin|optedin|emailoptedin|accepts(?:email)?marketing|email(?:marketing)?consent|marketingconsent|marketingoptin|newsletteroptin|canemail)$/u;
const badWhenFilled =
  /^(?:unsub(?:scribed?)?|optout|optedout|bounced?|cleaned?|suppress(?:ed|ion)|complain(?:ed|t))(?:at|on|time|date|reason|timestamp|campaigntitle|dateutc)$/u;

/** The words of a heading, each with a blank before and behind it: without accents, `optOut` and `OPT_OUT` as `opt out`. */
const spaced = (text: string): string =>
  ` ${text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .toLowerCase()
    .replaceAll(/\P{L}+/gu, ' ')
    .trim()} `;

const anyOf = (...lines: readonly string[]): RegExp => {
  const words = lines.flatMap((line) => line.split(',')).map((word) => spaced(word).trim());
  return new RegExp(` (?:${words.join('|')})(?= )`, 'u');
};

const followedBy = (first: RegExp, second: RegExp): RegExp => new RegExp(`${first.source}.*${second.source}`, 'u');

/** Somebody left. */
const left = anyOf(
  'unsub,unsubs,unsubscribe,unsubscribed,unsubscribes,unsubscription,optout,opt out,optedout,opted out',
  'do not contact,do not email,do not mail,blacklist,blacklisted,blocklist,blocklisted,bounced,hard bounce,suppressed',
  'abgemeldet,abmeldung,newsletterabmeldung,abbestellt,abbestellung,ausgetragen,austragung,werbewiderspruch,werbesperre',
  'désabonné,désabonnée,désabonnement,désinscrit,désinscrite,désinscription',
  'desuscrito,desuscrita,desuscripción,baja,descadastrado,descadastrada',
  'disiscritto,disiscritta,disiscrizione,uitgeschreven,uitschrijving,afgemeld,afmelding',
  'avregistrerad,avprenumererad,avmeldt,frameldt,afmeldt,wypisany,wypisana,odhlášen,odhlášena,abonelikten çıktı',
  'отписан,отписана,отписался,отписалась,配信停止,退订,退訂,수신거부',
);
/** When, or why. */
const leftOn = anyOf('abmeldedatum,abmeldezeitpunkt,abmeldegrund,uitschrijfdatum,afmelddatum,data odhlášení');
const whenOrWhy = anyOf(
  'at,on,time,date,timestamp,reason,am,datum,zeitpunkt,grund,le,motif,raison,fecha,motivo,data di,data de,data da,op,reden',
);
/** Before the word it is the opposite; behind it something else: `Abgemeldet (nicht mehr anrufen)`. */
const not = anyOf(
  'not,non,no,never,without,isn t,hasn t,wasn t,aren t,nicht,kein,keine,keinen,nie,niemals,ohne,pas,jamais,sans',
  'nunca,sin,não,nem,sem,mai,senza,niet,geen,nooit,zonder,ikke,inte,ej,aldrig,ingen,bez,не,без',
);
const denied = [followedBy(not, left), followedBy(not, leftOn), followedBy(left, anyOf('free,frei'))];
const notLeft = new RegExp(`^${not.source}${left.source} $`, 'u');

/** Of a whole cell: `nicht abgemeldet`. A reason may say `no, unsubscribe me`. */
export const saysNotLeft = (cell: string): boolean => /^[\p{L}\p{M} ]{1,40}$/u.test(cell) && notLeft.test(spaced(cell));

/** It counts letters, and is of no one person. */
const counts = anyOf('count,counts,number,total,rate,emails,mails,anzahl,quote,nombre,taux,número,total');

/** Somebody agreed: only where all the rest says no more than to what. A consent form is another thing. */
const agreed = anyOf(
  'consent,consented,opt in,opted in,optin,subscribed,allowed,permitted',
  'einwilligung,eingewilligt,werbeeinwilligung,zustimmung,zugestimmt,einverstanden,erlaubt,gestattet,darf',
  'consentement,consentimiento,consentimento,consenso,toestemming,samtycke,samtykke,zgoda,souhlas',
);
const toWhat = anyOf(
  'is,has,may,can,be,we,to,for,of,by,via,given,granted,status,gdpr,dsgvo,rgpd,avg,marketing,email,e mail,mail,emails,newsletter',
  'contact,contacted,contacting,data,privacy,werbung,werbe,kontakt,kontaktiert,kontaktaufnahme,angeschrieben,werden,datenschutz',
  'zur,zum,für,per,erteilt,liegt vor,vorhanden,le,la,al,au,de,del,pour,para,correo,courriel,voor,till,til',
);

const isAllOf = (heading: string, ...known: readonly RegExp[]): boolean =>
  known.reduce((rest, words) => rest.replaceAll(new RegExp(words, 'gu'), ''), heading).trim() === '';

/** Undefined: its cells speak for themselves. */
export function saysWhen(header: string): Says | undefined {
  const whole = plain(header);
  const heading = spaced(header);
  // What a yes says below `Nicht abgemeldet` nobody can be sure of.
  if (denied.some((way) => way.test(heading.slice(0, 200).replaceAll(' do not ', ' do ')))) return undefined;
  const isLeft = left.test(heading) && !counts.test(heading);
  if (badWhenFilled.test(whole) || leftOn.test(heading) || (isLeft && whenOrWhy.test(heading))) return 'anything';
  if (badWhenYes.test(whole) || isLeft) return 'yes';
  if (badWhenNo.test(whole) || (agreed.test(heading) && isAllOf(heading, agreed, toWhat))) return 'no';
  return undefined;
}
