// Package changelog keeps the present state of keyed items and a log of its last
// changes, for any number of readers, each at its own pace.
//
// All readers share one ring; none has a queue of its own, so that a change costs
// the same whoever reads. Who falls too far behind is told so.
//
// It must not know what the items are, nor how they are sent.
package changelog
