import { networkOf } from './address.ts';
import type { ImportedNetwork, ImportedOption, LeftOut, OptionValue } from './model.ts';

/** The network without routers that its machines cannot reach: options of a whole file are meant for one of its networks. */
export function withNearRouters(network: ImportedNetwork, left: LeftOut[]): ImportedNetwork {
  return { ...network, options: network.options.flatMap((option) => near(option, network, left)) };
}

function near(option: ImportedOption, network: ImportedNetwork, left: LeftOut[]): ImportedOption[] {
  const value = nearValue(option, network);
  if (value === option.value) return [option];
  const where = `${network.network}/${network.prefixLength}`;
  left.push({
    where,
    what: `option ${option.number} ${JSON.stringify(option.value)}`,
    why: 'its router is not in this network',
  });
  return value === undefined ? [] : [{ ...option, value }];
}

/** The value itself when all of its routers are near, undefined when none is. */
function nearValue({ number, value }: ImportedOption, network: ImportedNetwork): OptionValue | undefined {
  const isNear = (address: string) => networkOf(address, network.prefixLength) === network.network;
  if (number === 3 && value.kind === 'addresses') {
    const addresses = value.addresses.filter(isNear);
    if (addresses.length < value.addresses.length)
      return addresses.length === 0 ? undefined : { kind: 'addresses', addresses };
  }
  if (number === 121 && value.kind === 'routes') {
    const routes = value.routes.filter(({ router }) => isNear(router));
    if (routes.length < value.routes.length)
      return routes.length === 0 ? undefined : { kind: 'routes', routes };
  }
  return value;
}
