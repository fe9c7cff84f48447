package contract

import "strings"

// Names are the names of the objects in the namespace of the server, except for the ConfigMap with
// the ratios. All of them have the same prefix.
type Names struct {
	// Overrides is the ConfigMap that stores the ratios set through the API.
	Overrides string
	// Holds is the ConfigMap that stores restores, pauses and open breakers.
	Holds string
	// Evictions is the ConfigMap that stores which pods were evicted, and why.
	Evictions string
	// Freeze is the ConfigMap that freezes the cluster while it exists.
	Freeze string
	// Benchmarks is the ConfigMap with the settings of benchmarks, which users create.
	Benchmarks string
	// BenchmarkRatios is the ConfigMap that stores the ratios that follow benchmarks.
	BenchmarkRatios string
	// ProductionRatios is the ConfigMap that stores what production shows, and the ratios that follow it.
	ProductionRatios string
	// SamplesPrefix starts the names of the ConfigMaps that store samples. A number follows it.
	SamplesPrefix string
	// UsagePrefix starts the names of the ConfigMaps that store the history of usage. A hyphen
	// and a number follow it.
	UsagePrefix string
	// JournalPrefix starts the names of the ConfigMaps that store the journal. A hyphen and a number follow it.
	JournalPrefix string
	// CA is the ConfigMap with the certificate authorities that callers must trust.
	CA string
	// Certificate is the Secret that stores the server's certificate and its authority.
	Certificate string
	// CreationKeys is the Secret that stores the keys that prove sizes at creation, and Creation the
	// MutatingWebhookConfiguration that lets the API server ask for them, which is in no namespace.
	CreationKeys, Creation string
	// Lease is the Lease that the leader holds.
	Lease string
}

// DefaultNames are the names in the manifests.
var DefaultNames = NamesWith(AppName)

// NamesWith returns the names with this prefix.
func NamesWith(prefix string) Names {
	return Names{
		Overrides:        prefix + "-overrides",
		Holds:            prefix + "-holds",
		Evictions:        prefix + "-evictions",
		Freeze:           prefix + "-freeze",
		Benchmarks:       prefix + "-benchmarks",
		BenchmarkRatios:  prefix + "-benchmark-ratios",
		ProductionRatios: prefix + "-production-ratios",
		SamplesPrefix:    prefix + "-samples-",
		UsagePrefix:      prefix + "-usage",
		JournalPrefix:    prefix + "-journal",
		CA:               prefix + "-ca",
		Certificate:      prefix + "-tls",
		CreationKeys:     prefix + "-creation-keys",
		Creation:         prefix + "-size-at-creation",
		Lease:            prefix,
	}
}

// ConfigMap reports whether a ConfigMap of this name is one of these.
func (n Names) ConfigMap(name string) bool {
	switch name {
	case n.Overrides, n.Holds, n.Evictions, n.Freeze, n.Benchmarks, n.BenchmarkRatios, n.ProductionRatios, n.CA:
		return true
	}
	return strings.HasPrefix(name, n.SamplesPrefix) || strings.HasPrefix(name, n.UsagePrefix+"-") || strings.HasPrefix(name, n.JournalPrefix+"-")
}
