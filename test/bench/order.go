package main

// order is the order in which four variants are measured, round by round. A variant may
// slow down the next one. In four rounds, each variant has every place once and follows
// every other variant once.
var order = [][]int{{0, 1, 3, 2}, {1, 2, 0, 3}, {2, 3, 1, 0}, {3, 0, 2, 1}}
