package main

// order is that in which four variants are measured, round by round. What comes
// before may slow down what comes after: in four rounds each variant has every place
// once, and comes once after each other one.
var order = [][]int{{0, 1, 3, 2}, {1, 2, 0, 3}, {2, 3, 1, 0}, {3, 0, 2, 1}}
