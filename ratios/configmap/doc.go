// Package configmap is the provider that reads ratios from a ConfigMap and watches it for
// changes.
//
// It must not know other providers or write anything.
package configmap
