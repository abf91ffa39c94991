import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';

/** A place where a planted text was found, and in which form. */
export interface Find {
  where: string;
  marker: string;
  form: string;
}

/** Planted texts by a name for people. */
export type Markers = Readonly<Record<string, string>>;

/** Every file below these folders in which one of the texts stands: plain, encoded, or inside what was compressed. */
export function findInFiles(folders: readonly string[], markers: Markers): Find[] {
  return folders.flatMap((folder) =>
    filesIn(folder).flatMap((file) => findIn(path.relative(folder, file), readFileSync(file), markers)),
  );
}

export function findIn(where: string, bytes: Buffer, markers: Markers): Find[] {
  const views = [bytes, ...unpacked(bytes)];
  return Object.entries(markers).flatMap(([marker, text]) =>
    Object.entries(forms(text))
      .filter(([, patterns]) => patterns.some((pattern) => views.some((view) => view.includes(pattern))))
      .map(([form]) => ({ where, marker, form })),
  );
}

/** How a text may stand among bytes. */
function forms(text: string): Record<string, (string | Buffer)[]> {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  return {
    plain: [bytes],
    json: [JSON.stringify(text).slice(1, -1), JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1)],
    url: [encodeURIComponent(text)],
    'utf-16': [Buffer.from(text, 'utf16le')],
    hex: [hex, hex.toUpperCase()],
    base64: base64Forms(bytes, 'base64'),
    base64url: base64Forms(bytes, 'base64url'),
  };
}

/** What base64 makes of the text at each of the three places that it can have in what was encoded. */
function base64Forms(bytes: Buffer, encoding: 'base64' | 'base64url'): string[] {
  return [0, 1, 2].map((shift) => {
    const whole = Math.floor((shift + bytes.length) / 3) * 4;
    const skipped = shift === 0 ? 0 : 4;
    return Buffer.concat([Buffer.alloc(shift), bytes])
      .toString(encoding)
      .slice(skipped, whole);
  });
}

const longestUnpacked = 64 * 1024 * 1024;

/** What the gzip members and zlib streams among bytes hold, as far as they can be read. */
function unpacked(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = bytes.indexOf(0x1f); at >= 0; at = bytes.indexOf(0x1f, at + 1)) {
    if (bytes[at + 1] !== 0x8b || bytes[at + 2] !== 8) continue;
    const inside = inflated(bytes.subarray(at + 10));
    if (inside !== undefined) found.push(inside);
  }
  return found;
}

function inflated(deflated: Buffer): Buffer | undefined {
  try {
    return inflateRawSync(deflated, { maxOutputLength: longestUnpacked });
  } catch {
    return undefined;
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}
