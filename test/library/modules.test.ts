import { expect, test } from 'vitest';
import { combineModules, metal, provisionModule } from '#library/modules.ts';

const profile = { id: 'p', version: 1, target: 'metal' } as const;
const invalid = (path: string) =>
  expect.objectContaining({ code: 'INVALID_CONFIG', details: expect.objectContaining({ path }) });

test.each<[string, object]>([
  ['userData.controlPlaneUrl', { userData: { controlPlaneUrl: 'https://cp/$x' } }],
  ['userData.pins.servingCaPin', { userData: { pins: { joinSigningPin: 'x' } } }],
  ['steps[0].timeout', { profiles: [{ ...profile, steps: [{ use: 'a.b', timeout: 'soon' }] }] }],
  ['configUnits[0].name', { configUnits: [{ name: 'sysctl' }] }],
  ['configUnits[1].name', { configUnits: [{ name: 'motd' }, { name: 'motd' }] }],
  ['imageVerifier', { imageVerifier: 'sigstore' }],
  ['verifier', { verifier: () => undefined }],
])('provisionModule refuses %s', (path, settings) => {
  expect(() => provisionModule(settings as never)).toThrow(invalid(path));
});

test.each<[string, object]>([
  ['images.allowUnsigned', { images: { allowUnsigned: 'yes' } }],
  ['images.verifier', { images: { verifier: true } }],
  ['imageVerifier', { imageVerifier: () => undefined }],
])('metal refuses %s', (path, settings) => {
  expect(() => metal(settings as never)).toThrow(invalid(path));
});

test('modules add up: the verifier of registration and that of deploys are two', async () => {
  const atRegistration = async () => undefined;
  const atDeploy = async () => undefined;
  const { images, profiles, configUnits } = combineModules([
    provisionModule({
      profiles: [profile as never],
      configUnits: [{ name: 'motd' }],
      imageVerifier: atRegistration,
    }),
    metal({ images: { verifier: atDeploy, allowUnsigned: true } }),
    { name: 'ours', profiles: [{ ...profile, id: 'q' } as never], configUnits: [{ name: 'ntp' }] },
  ]);
  expect(images).toEqual({ verifier: atRegistration, deployVerifier: atDeploy, allowUnsigned: true });
  expect(profiles.map(({ id }) => id)).toEqual(['p', 'q']);
  expect(configUnits.map(({ name }) => name)).toEqual(['motd', 'ntp']);
});

test('two modules of one name, or that set the same thing, are refused', () => {
  expect(() => combineModules([metal(), metal()])).toThrow(invalid('modules'));
  const bcdSha256 = 'a'.repeat(64);
  expect(() =>
    combineModules([provisionModule({ userData: { bcdSha256 } }), { name: 'ours', userData: { bcdSha256 } }]),
  ).toThrow(invalid('userData.bcdSha256'));
});
