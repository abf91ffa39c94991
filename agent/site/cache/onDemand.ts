import { Value } from 'typebox/value';
import type { ImageCache } from '#cache/imageCache.ts';
import type { CacheImage } from '#contract/images.ts';
import { DeployImage, type Operation } from '#contract/operations.ts';

/**
 * `cache.onDemand`: has the cache pull what is deployed here and is not wanted anyway. The machine finds the pull under way and waits for it,
 * where it would have streamed from the source.
 */
export function pullOnDemand(
  operations: readonly Operation[],
  cache: Pick<ImageCache, 'ask' | 'state'>,
): void {
  for (const { action, input } of operations)
    if (
      action === 'deploy.image' &&
      Value.Check(DeployImage, input) &&
      cache.state(input.digest) === undefined
    )
      cache.ask(imageOf(input));
}

function imageOf({ ref, digest, sizeBytes, format, compression, sources }: DeployImage): CacheImage {
  const size = sizeBytes === undefined ? {} : { sizeBytes };
  return { ref, kind: 'os', digest, ...size, format, compression, sources };
}
