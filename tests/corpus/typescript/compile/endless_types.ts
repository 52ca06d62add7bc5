// class: resources
type Deep<T, N extends any[]> = Deep<[T], [...N, T]>;
type Bomb = Deep<string, []>;
const bomb: Bomb = 1 as any;
