// Package standalone is a server without a cluster: it returns the ratios of a configuration,
// and plans manifests.
//
// It must not know how it is reached, nor read a kubeconfig.
package standalone
