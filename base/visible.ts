/**
 * Text that moves no cursor, colours no terminal and begins no row: names are written by tenants, and what machines say of themselves
 * by anybody, but operators read them in their terminals. Control and format characters become `\u001b` and the like.
 */
export function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0')}`,
  );
}
