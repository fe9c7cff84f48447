// Package changelog keeps the current state of keyed items and a log of recent changes, for
// any number of readers, each at its own pace.
//
// All readers share one ring buffer. No reader has its own queue, so the cost of a change
// does not depend on the number of readers. A reader that falls too far behind gets an error.
//
// It must not know what the items are, nor how they are sent.
package changelog
