/** The path of a request without query and trailing slash, which Redfish treats alike. */
export function resourcePath(url: string): string {
  const path = url.split('?')[0] ?? '';
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

export const accountsPath = '/redfish/v1/AccountService/Accounts';
/** The second of fixed slots, as iDRAC's administrator. */
export const accountPath = `${accountsPath}/2`;
