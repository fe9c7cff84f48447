// Package measured is what sources that measure node types have in common: the ratios that they have published, in the
// form that is stored, and how a judgment moves these toward what was measured since.
//
// A ratio starts from the ratio of the other sources, follows what is measured as package pace says, and returns to the other
// sources when there is nothing left to follow.
//
// It must not know what is measured, or where published ratios are stored.
package measured
