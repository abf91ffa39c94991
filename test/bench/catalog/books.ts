import { createHash } from 'node:crypto';
import type { Store } from '#central/store/store.ts';
import type { NewRow } from '#central/store/tables.ts';

export const tenantId = 'bench';
const rowsPerInsert = 500;
const createdAt = '2026-01-01T00:00:00.000Z';

/** Fills the books as a busy tenant's would be; every fifth image is public. Written past the API, in one transaction. */
export async function fillBooks(store: Store, { images, profiles }: { images: number; profiles: number }) {
  await store.transaction().execute(async (queries) => {
    const tenant = { tenant_id: tenantId, name: tenantId, created_at: createdAt };
    await queries.insertInto('tenants').values(tenant).execute();
    for (let from = 0; from < images; from += rowsPerInsert)
      await queries
        .insertInto('images')
        .values(rows(from, images, image))
        .execute();
    for (let from = 0; from < profiles; from += rowsPerInsert)
      await queries
        .insertInto('profiles')
        .values(rows(from, profiles, profile))
        .execute();
  });
}

export function imageId(index: number): string {
  return `img_01k${index.toString().padStart(23, '0')}`;
}

function rows<Row>(from: number, end: number, make: (index: number) => Row): Row[] {
  return Array.from({ length: Math.min(rowsPerInsert, end - from) }, (_, at) => make(from + at));
}

function image(index: number): NewRow<'images'> {
  const name = `os-${(index % 1000).toString().padStart(4, '0')}`;
  return {
    image_id: imageId(index),
    tenant_id: tenantId,
    ref: `${name}@${Math.floor(index / 1000)}`,
    kind: 'os',
    format: 'raw',
    compression: 'zstd',
    sha256: createHash('sha256').update(`${index}`).digest('hex'),
    size_bytes: 1_000_000_000 + index,
    source: `https://images.example.com/${name}/${index}.raw.zst`,
    signature: Buffer.alloc(64, index).toString('base64'),
    signer_id: 'builds',
    signer_tenant_id: tenantId,
    verified: 1,
    visibility: index % 5 === 0 ? 'public' : 'private',
    created_at: createdAt,
  };
}

function profile(index: number): NewRow<'profiles'> {
  const id = `profile-${Math.floor(index / 10)}`;
  const version = (index % 10) + 1;
  const steps = [{ use: 'power.getPower' }, { use: 'wait.agentJoined', with: { role: 'node' } }];
  return {
    tenant_id: tenantId,
    profile_id: id,
    version,
    document: JSON.stringify({ id, version, role: 'host', steps }),
    visibility: 'private',
    used_at: null,
    created_at: createdAt,
  };
}
