import { RailheadError } from '#contract/errors.ts';

/** Bytes of a JSON document, as a seed. */
export function json(document: unknown): Buffer {
  return Buffer.from(JSON.stringify(document));
}

/** A text as a seed. */
export function text(content: string): Buffer {
  return Buffer.from(content, 'utf8');
}

/** What a listener makes of a body: undefined for what it refuses as no JSON. */
export function parsedJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The declared refusal of most parsers. */
export function isRailheadError(error: unknown): boolean {
  return error instanceof RailheadError;
}
