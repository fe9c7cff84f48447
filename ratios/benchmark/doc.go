// Package benchmark is the provider of ratios that were measured: it gathers
// samples from feeds and from the API, and says what they come to. For node types
// that are to follow them, it says so as a source of ratios, calmly; for the
// others it only tells.
//
// What it says is in a ConfigMap. Where that is emptied by hand, all its ratios end at
// once, and start anew from what the other sources say: that is how people end all of
// them. Where the ConfigMap is deleted or cannot be read, what was last read stays.
//
// It must not know who may send samples, nor other providers.
package benchmark
