// Of both engines: the one in a thread takes no TypeScript, so that its types stand beside it.

/** What no statement goes on with, and what ends a comment that is still open. */
const nonsense = '\n*/ @@';

/** What the engines say of a text that holds nothing but space and comments; Node says it in other words as it grows. */
const nothing = /^(?:The [\w ]+ contains no statements|Nothing to prepare)/u;

exports.oneStatement = (text, prepare) => {
  const failure = (part) => {
    try {
      prepare(part);
      return undefined;
    } catch (error) {
      return String(error.message);
    }
  };
  for (let at = text.indexOf(';'); at >= 0; at = text.indexOf(';', at + 1)) {
    if (failure(text.slice(0, at + 1) + nonsense) !== undefined) continue;
    if (!nothing.test(failure(text.slice(at + 1)) ?? '')) throw new Error('several statements; give one at a time');
    return text.slice(0, at);
  }
  return text;
};
