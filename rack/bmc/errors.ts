/** An answer of the BMC: an HTTP status and its body. */
export interface RedfishAnswer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Messages of DMTF's Base registry 1.18 that this BMC uses: severity is Critical unless said. */
const messages = {
  AccessDenied: 'The account credentials are not valid for this resource.',
  ActionParameterMissing: 'The action requires a parameter that is missing.',
  ActionParameterValueConflict: 'A parameter of the action conflicts with the state of the resource.',
  ActionParameterValueNotInList: 'The value of an action parameter is not in the list of acceptable values.',
  EventSubscriptionLimitExceeded:
    'The event subscription failed due to the number of simultaneous subscriptions.',
  GeneralError: 'A general error has occurred. See Resolution for information on how to resolve the error.',
  InternalError: 'The request failed due to an internal service error.',
  MalformedJSON: 'The request body was not valid JSON.',
  NoValidSession: 'There is no valid session established with the implementation.',
  OperationNotAllowed: 'The HTTP method is not allowed on this resource.',
  PasswordChangeRequired:
    'The password provided for this account must be changed before access is granted. PATCH the Password property of the account named to complete this process.',
  PreconditionFailed: 'The ETag supplied did not match the ETag required to change this resource.',
  PreconditionRequired: 'A precondition header or annotation is required to change this resource.',
  PropertyMissing: 'A property that is required is missing from the request.',
  PropertyNotWritable: 'The property is read only and cannot be assigned a value.',
  PropertyUnknown: 'The property is not in the list of valid properties for the resource.',
  PropertyValueFormatError: 'The value of a property has a format that it cannot have.',
  PropertyValueNotInList: 'The value of a property is not in the list of acceptable values.',
  PropertyValueTypeError: 'The value of a property has the wrong type.',
  ResourceInStandby: 'The request could not be performed because the resource is in standby.',
  ResourceMissingAtURI: 'The resource at the URI was not found.',
  ServiceTemporarilyUnavailable: 'The service is temporarily unavailable. Retry later.',
  SessionLimitExceeded: 'The session establishment failed due to the number of simultaneous sessions.',
} as const;

export type MessageName = keyof typeof messages;

/** Thrown by a route to answer with a Redfish error. */
export class RedfishError extends Error {
  readonly answer: RedfishAnswer;

  constructor(status: number, name: MessageName, about: ErrorSubject = {}) {
    super(`${status} ${name}`);
    this.name = 'RedfishError';
    this.answer = redfishError(status, name, about);
  }
}

/** What an error is about: the arguments of its message and the properties named, as JSON pointers. */
interface ErrorSubject {
  args?: readonly string[];
  properties?: readonly string[];
}

/** An error answer as DSP0266 section 8.6 lays it out. */
export function redfishError(status: number, name: MessageName, about: ErrorSubject = {}): RedfishAnswer {
  const info = extendedInfo(name, about);
  return {
    status,
    body: { error: { code: info.MessageId, message: info.Message, '@Message.ExtendedInfo': [info] } },
  };
}

/** One message as it stands in `@Message.ExtendedInfo`. */
export function extendedInfo(name: MessageName, about: ErrorSubject = {}) {
  return {
    '@odata.type': '#Message.v1_1_2.Message',
    MessageId: `Base.1.18.${name}`,
    Message: messages[name],
    MessageArgs: about.args ?? [],
    ...(about.properties === undefined ? {} : { RelatedProperties: about.properties.map((at) => `#/${at}`) }),
    MessageSeverity: 'Critical',
    Resolution: 'None.',
  };
}
