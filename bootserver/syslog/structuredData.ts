/** One element, `[id name="value" …]`; in a value `"`, `\` and `]` are written with a `\` before them (RFC 5424 §6.3). */
const element = /\[[^\s"=\]]{1,32}(?: [^\s"=\]]{1,32}="(?:[^"\\\]]|\\.)*")*\]/sy;

/** Where the structured data that begins at `start` ends: `-`, or elements one after the other; undefined when it is neither. */
export function elementsEnd(text: string, start: number): number | undefined {
  if (text[start] === '-') return start + 1;
  let end = start;
  element.lastIndex = end;
  while (element.test(text)) {
    end = element.lastIndex;
    if (text[end] !== '[') break;
  }
  return end === start ? undefined : end;
}
