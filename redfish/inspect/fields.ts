import { asText, type Json } from '../json.ts';

/** No name, model or serial number is longer. */
const longestText = 256;

/** A text that says something; BMCs fill what they do not know with blanks and with words for nothing. */
export function fact(value: Json | undefined): string | undefined {
  const text = asText(value)?.trim().slice(0, longestText);
  return text === undefined || /^(|n\/?a|unknown|not available|none|null)$/i.test(text) ? undefined : text;
}

/** A count or a size: a whole number that is not negative; some BMCs send 0 or null for what they do not know. */
export function whole(value: Json | undefined): number | undefined {
  const isCount = typeof value === 'number' && value > 0 && value <= Number.MAX_SAFE_INTEGER;
  return isCount ? Math.round(value) : undefined;
}

export function reading(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
