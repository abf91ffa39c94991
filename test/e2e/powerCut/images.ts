import { createCipheriv, createHash } from 'node:crypto';

/** How many images one boot of the machine pulls. */
export const imagesOfCycle = 24;

/** An image that both sides can make from its number: about a mebibyte of noise, no two of one size. */
export function imageBytes(number: number): Buffer {
  const key = createHash('sha256').update(`image ${number}`).digest().subarray(0, 16);
  const noise = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  return noise.update(Buffer.alloc(700_000 + (number % 17) * 50_001));
}

export function imageDigest(number: number): string {
  return createHash('sha256').update(imageBytes(number)).digest('hex');
}
