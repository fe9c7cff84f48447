// Package benchmark is the provider of measured ratios. It publishes them in a
// ConfigMap, and also provides what they are computed from: the samples and the
// settings. The source is unhealthy while the ratios, the samples or the settings are
// not known.
//
// If you empty the ConfigMap by hand, all its ratios end immediately and later start again
// from the ratios of the other sources: this is how users end all measured ratios. If the
// ConfigMap is deleted or cannot be read, the ratios that were read last stay in effect.
//
// It must not know the other sources: the judge compares samples with them, and changes the
// published ratios. It must not know who may send samples, either.
package benchmark
