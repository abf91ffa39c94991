import { RailheadError } from '#contract/errors.ts';
import { repeatable, type SiteAction, type SiteActionName } from './action.ts';

/** What this release of the site agent knows the name of and cannot do: the page docs/profiles.md lists the same. */
const why = {
  'media.insert': 'virtual media is not driven yet: boot the machine by PXE (boot.prepareRamdisk)',
  'media.eject': 'virtual media is not driven yet: eject it by the BMC itself',
} satisfies Partial<Record<SiteActionName, string>>;

/** An action that answers UNSUPPORTED and says what to do instead. */
export function notYet<Name extends keyof typeof why>(action: Name): SiteAction<Name> {
  const refuse = async () => {
    throw new RailheadError('UNSUPPORTED', `${action}: ${why[action]}`, { action, reason: 'not-yet' });
  };
  return { run: refuse, settle: repeatable };
}
