/** @jsxRuntime automatic @jsxImportSource preact */
/** The picture of a user. The name is beside it, so it needs no alternative text. */
export const Avatar = ({ user_id, size }: { user_id: string; size: number }) => (
  <img class="avatar" src={`/images/users/${user_id}-300x300.svg`} width={size} height={size} alt="" />
)
