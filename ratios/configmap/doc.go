// Package configmap is the provider that reads ratios from a ConfigMap, and
// follows it by a watch.
//
// It must not know other providers, nor write anything.
package configmap
