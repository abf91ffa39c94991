import { generateKeyPairSync, sign } from 'node:crypto';
import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { addImageSigner } from '#central/images/signers.ts';
import { imageSigningInput, type SignedImageFacts } from '#contract/images.ts';
import type { Lab, LabSite } from './lab.ts';

/** A site in the books that trusts the CA of an image source. */
export async function siteTrusting(lab: Lab, ca: string, name = 'north'): Promise<LabSite> {
  const site = await lab.newSite(name);
  const file = path.join(site.directory, 'source-ca.pem');
  await writeFile(file, ca);
  await appendFile(site.configFile, `[cache]\nsourceCaFile = "${file}"\n`);
  return site;
}

/** Registers an image in the platform's catalog, signed by a new signer of its own, and returns its id. */
export async function registerSigned(lab: Lab, facts: SignedImageFacts, source: string): Promise<string> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  const tenantId = 'root';
  const signerId = `signer-${facts.ref.replace('@', '-')}`;
  await lab.host(({ store }) => addImageSigner(store, { tenantId, signerId, publicKey: pem }));
  const signature = sign(null, imageSigningInput(facts), privateKey).toString('base64');
  const { data } = await lab.call<{ imageId: string }>('images.register', {
    ...{ tenantId, ...facts, source, signature, signerId },
  });
  return data.imageId;
}
