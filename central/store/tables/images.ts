import type { CacheState, Compression, ImageFormat, ImageKind } from '#contract/images.ts';
import type { Json, Time } from './columns.ts';

/** The catalog of images, and where they are in use. */
export interface ImageTables {
  image_signers: ImageSignersTable;
  images: ImagesTable;
  image_locations: ImageLocationsTable;
  image_pins: ImagePinsTable;
  withdrawn_digests: WithdrawnDigestsTable;
  node_images: NodeImagesTable;
}

interface ImageSignersTable {
  tenant_id: string;
  signer_id: string;
  public_key: string;
  created_at: Time;
  revoked_at: Time | null;
}

interface ImagesTable {
  image_id: string;
  tenant_id: string;
  ref: string;
  kind: ImageKind;
  format: ImageFormat;
  compression: Compression;
  sha256: string;
  size_bytes: number | null;
  source: string;
  signature: string | null;
  signer_id: string | null;
  signer_tenant_id: string | null;
  verified: number;
  visibility: 'private' | 'public';
  created_at: Time;
}

interface ImageLocationsTable {
  site_id: string;
  image_id: string;
  state: CacheState;
  received_bytes: number | null;
  error: Json | null;
  reported_at: Time;
  used_at: Time | null;
}

/** An image that a deploy streams at a site. */
interface ImagePinsTable {
  site_id: string;
  image_id: string;
  workflow_id: string;
  pinned_at: Time;
}

interface WithdrawnDigestsTable {
  sha256: string;
  why: string;
  withdrawn_at: Time;
}

/** What is on a machine's disk, as far as the centre knows: `writing` may have been cut short. */
interface NodeImagesTable {
  node_id: string;
  sha256: string;
  ref: string;
  image_id: string;
  state: 'writing' | 'deployed' | 'mounted';
  workflow_id: string;
  at: Time;
}
