export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function asTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** The `@odata.id` that `value` refers to. */
export function linkOf(value: unknown): string | undefined {
  return asText(asObject(value)['@odata.id']);
}

/**
 * The JSON of a body; undefined when there is none or it is something else. A byte order mark is skipped, and
 * an `@odata.etag` with unescaped quotes is left out: BMCs send `"@odata.etag": ""a1""`
 * (DMTF/python-redfish-library issue 107).
 */
export function parseBody(text: string): Json | undefined {
  const body = text.replace(/^\uFEFF/, '').trim();
  if (body === '') return undefined;
  return parseOrUndefined(body) ?? parseOrUndefined(body.replace(brokenEtag, ''));
}

const brokenEtag = /"@odata\.etag"\s*:\s*"[^\n,}]*"\s*,?/g;

function parseOrUndefined(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
