import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Encrypts what must not be readable in a database file or its backups, at the centre and at sites. */
export interface Sealer {
  seal(text: string): Buffer;
  /** @throws Error when the bytes were changed or the key is another one */
  open(sealed: Buffer): string;
}

const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM by a key of 32 bytes: nonce, tag, ciphertext. */
export function openSealer(key: Buffer): Sealer {
  return { seal: (text) => seal(key, text), open: (sealed) => unseal(key, sealed) };
}

/** Seals by the newest of several keys, the first, and opens what any of them sealed. `keys` is asked each time: a rotation changes them. */
export function openRingSealer(keys: () => readonly Buffer[]): Sealer {
  return {
    seal: (text) => seal(newest(keys()), text),
    open: (sealed) => unsealByOne(keys(), sealed),
  };
}

function newest(keys: readonly Buffer[]): Buffer {
  const [first] = keys;
  if (first === undefined) throw new Error('there is no key to seal by');
  return first;
}

function unsealByOne(keys: readonly Buffer[], sealed: Buffer): string {
  let failure: unknown = new Error('there is no key to open it by');
  for (const key of keys)
    try {
      return unseal(key, sealed);
    } catch (error) {
      failure = error;
    }
  throw failure;
}

function seal(key: Buffer, text: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

function unseal(key: Buffer, sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  const body = sealed.subarray(nonceBytes + tagBytes);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
}
