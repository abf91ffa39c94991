import type { DiskHints } from '#contract/steps.ts';
import { userDataTemplate } from './centre.ts';

export interface DeployChoices {
  disk?: DiskHints | undefined;
  /** The user data's template; the demo's own by default. */
  template?: string | undefined;
}

/** The profile that deploys the demo's OS: every step from a rendered user data to the OS that has joined. */
export function deployProfile(
  id: string,
  imageRef: string,
  { disk, template = userDataTemplate }: DeployChoices = {},
): object {
  return {
    id,
    version: 1,
    target: 'metal',
    role: 'host',
    image: { ref: imageRef },
    userData: { kind: 'cloud-init', template },
    steps: [
      { use: 'userdata.render' },
      { use: 'boot.prepareRamdisk', on: 'site' },
      { use: 'management.setBootDevice', on: 'site', with: { device: 'pxe' } },
      { use: 'power.setPower', on: 'site', with: { action: 'cycle' } },
      { use: 'wait.agentJoined', with: { role: 'ramdisk' } },
      {
        use: 'deploy.deploy',
        on: 'ramdisk',
        timeout: '30m',
        ...(disk === undefined ? {} : { with: { disk } }),
      },
      { use: 'management.setBootDevice', on: 'site', with: { device: 'disk' } },
      { use: 'boot.kexec', on: 'ramdisk', await: 'rejoin', timeout: '15m' },
    ],
    cleanup: [{ use: 'boot.cleanUp', on: 'site' }],
  };
}
