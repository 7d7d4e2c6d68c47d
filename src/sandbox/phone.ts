/**
 * What gives the E.164 form of a phone in any common format, undefined where it is none (Contact, Phone rules). The library
 * is loaded when a phone first comes along: most requests carry none.
 */
export async function loadPhones() {
  const { default: parse, isSupportedCountry } = await import('libphonenumber-js/min');
  return (phone: string, country?: string): string | undefined => {
    // In much of the world people dial 00 for +.
    const dialled = phone.trim().replace(/^00(?=[1-9])/u, '+');
    const home = country !== undefined && /^[A-Z]{2}$/u.test(country) ? country : 'US';
    const number = parse(dialled, isSupportedCountry(home) ? home : undefined);
    return number?.isPossible() ? number.number : undefined;
  };
}
