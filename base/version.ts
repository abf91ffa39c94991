/** The version that programs print and agents report; a test keeps it equal to package.json's. */
export const version = '0.1.0';
