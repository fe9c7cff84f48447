// Package benchmark is the provider of ratios that were measured. What it says is in a
// ConfigMap, and beside it the provider has what that is made of: the samples, and
// the settings. It is unhealthy while one of the three is not known.
//
// Where the ConfigMap is emptied by hand, all its ratios end at once, and start anew
// from what the other sources say: that is how people end all of them. Where it is
// deleted or cannot be read, what was last read stays.
//
// It must not know what other sources say: who compares samples with that, and moves
// what is published, is the judge. Nor who may send samples.
package benchmark
