import { RailheadError } from '#contract/errors.ts';
import type { Step } from './index.ts';

export const deployImage: Step<'deploy.image'> = async () => {
  throw new RailheadError('UNSUPPORTED', 'writing an image is not built yet');
};
