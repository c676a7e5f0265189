import type { User } from '../../contract/resources/user.ts'

export const userSubject = ({ id }: { id: string }): string => `user/${id}`

/** The audit log outlives the user, so it never contains the address. */
export const loggable = ({ email: _, ...user }: User) => user
