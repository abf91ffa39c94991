import type { Log } from '#base/log.ts';
import type { ImageReader } from '#bootserver/http/imageReader.ts';
import type { KeptIdentity } from '../../join/keptIdentity.ts';
import type { Revocations } from '../../join/revocations.ts';
import type { ProgressBox } from '../link/progress.ts';
import type { SiteState } from '../store/state.ts';
import type { Wake } from '../wake.ts';
import type { Presence } from './presence.ts';

/** What the routes of the machine listener use. */
export interface MachineParts {
  siteId: string;
  /** `http://<address>:<port>/images` for a machine that reached this site at an address. */
  imagesUrlAt(address: string | undefined): string;
  /** The image cache. */
  images: ImageReader;
  /** The id of the boot that a machine is in, whose ramdisk asks for a token. */
  bootOf(mac: string): string;
  /** The MAC whose address this is: our lease, or what is known of another server's. */
  leasedTo(address: string): string | undefined;
  kept: KeptIdentity;
  revocations: Revocations;
  state: SiteState;
  presence: Presence;
  progress: ProgressBox;
  /** Woken when there may be an operation for a machine. */
  machines: Wake;
  /** Woken when there is something to tell the centre. */
  news: Wake;
  log: Log;
}
