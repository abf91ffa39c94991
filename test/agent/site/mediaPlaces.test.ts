import { expect, test } from 'vitest';
import { mediaPlaces } from '#agent/site/mediaPlaces.ts';

const bootServer = {
  urlsAt: (address: string | undefined) =>
    address === '127.0.0.1' ? ['http://127.0.0.1:8080', 'https://127.0.0.1:8443'] : ['http://10.77.0.1:8080'],
};

test('a BMC reads at the listener of its own network, by the routes of the kernel', async () => {
  const places = mediaPlaces(undefined, bootServer);
  expect(await places('https://127.0.0.9')).toEqual(['http://127.0.0.1:8080', 'https://127.0.0.1:8443']);
  expect(await places('https://[::1]:8443')).toEqual(['http://10.77.0.1:8080']);
  expect(await places('https://bmc.invalid')).toEqual(['http://10.77.0.1:8080']);
});

test('the place that the configuration names is the only one', async () => {
  const places = mediaPlaces('http://192.0.2.10:8080', bootServer);
  expect(await places('https://127.0.0.9')).toEqual(['http://192.0.2.10:8080']);
});
