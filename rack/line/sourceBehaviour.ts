/** How an image source answers for one path: honestly, or with one of the faults that real ones have. */
export type SourceBehaviour = 'honest' | 'other-bytes' | 'truncated';

/** What the parent tells a source process. */
export type SourceRequest =
  | { serve: { path: string; file: string; behaviour: SourceBehaviour } }
  | { stopServing: { path: string } };
