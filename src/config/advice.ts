import { type Failure, withHint } from '../errors.ts';
import { shellWord } from '../text/shell-word.ts';
import { copyCommands, profileCommands } from './command-names.ts';

/** What the person gave on this command line, or the environment named, so that svc acted as it did. */
export type Carried = {
  /** Named by flag or environment. */
  readonly profile?: string;
  /** Named by flag; a variable still stands when the hint is typed. */
  readonly baseUrl?: string;
  readonly authUrl?: string;
  readonly insecureHttp?: boolean;
  /** The copy that --db named; a variable still stands, too. */
  readonly db?: string;
};

/** These choose among profiles, or say themselves which one is meant. */
const ofEveryProfile = /^auth (?:list|switch)\b/u;
const ofCopy = new RegExp(`^(?:${copyCommands.join('|')})\\b`, 'u');
/** Such a URL is refused, and not repeated. */
const holdsPassword = (place: string): boolean => /^\w+:\/\/(?:.*:.*@|.*password)/isu.test(place);
const command = new RegExp(`\\bsvc (?=(?:${profileCommands.join('|')})\\b)((?:(?!\\bsvc )[^\\n])*)`, 'gu');

/** Up to the end of the sentence, or to what stands in brackets. */
const itsWords = /^(?:'[^']*'|"[^"]*"|[^'"])+?(?=$|,? \(|[.,;] )/u;

/**
 * The one place where advice becomes what can be typed as it stands: each `svc …` in it gets the profile, the addresses
 * and the copy that the failed command had. What a hint names already stays.
 */
export function typeable(text: string, { profile, baseUrl, authUrl, insecureHttp, db }: Carried): string {
  return text.replaceAll(command, (whole, rest: string) => {
    if (ofEveryProfile.test(rest) || /(?:^|\s)--help\b/u.test(rest)) return whole;
    // What is said behind the command is not part of it: it may name another profile.
    const [line = rest] = itsWords.exec(rest) ?? [];
    const names = (flags: string) => new RegExp(`(?:^|\\s)(?:${flags})\\b`, 'u').test(line);
    // One way to say it, wherever the hint was made.
    const [own, named] = / --profile (\S+)/u.exec(line) ?? [];
    const goesOut = !rest.startsWith('config');
    const flags: string[] = [];
    if (named !== undefined) flags.push('-p', named);
    else if (profile !== undefined && !names('-p') && !/^(?:auth )?logout --all/u.test(rest)) flags.push('-p', profile);
    if (baseUrl !== undefined && goesOut && !names('--base-url')) flags.push('--base-url', baseUrl);
    if (authUrl !== undefined && /^(?:auth )?login\b/u.test(rest)) flags.push('--auth-url', authUrl);
    if (insecureHttp && goesOut) flags.push('--insecure-http');
    const said = own === undefined ? rest : rest.replace(own, '');
    const placed =
      db === undefined || holdsPassword(db) || names('--db')
        ? said
        : said.replace(ofCopy, (words) => `${words} --db ${shellWord(db)}`);
    return ['svc', ...flags.map(shellWord), placed].join(' ');
  });
}

/** In a note only what is told as a command, behind a colon: the rest of it may be a customer's text. */
export const typeableNote = (text: string, carried: Carried): string => {
  const at = text.search(/: svc /u);
  return at < 0 ? text : text.slice(0, at) + typeable(text.slice(at), carried);
};

export const advised = (failure: Failure, carried: Carried): Failure =>
  failure.hint === undefined ? failure : withHint(failure, typeable(failure.hint, carried));
