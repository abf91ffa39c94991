/** What `--quirk [class=]name` collected, as the API takes it: lists by class, `any` where none is named. */
export function bootQuirksIn(pairs: readonly string[]): Record<string, string[]> {
  const quirks: Record<string, string[]> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const name = at === -1 ? 'any' : pair.slice(0, at);
    quirks[name] = [...(quirks[name] ?? []), pair.slice(at + 1)];
  }
  return quirks;
}
