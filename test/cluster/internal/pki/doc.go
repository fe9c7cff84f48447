// Package pki makes the keys and certificates of one throwaway cluster: a
// certificate authority, what it signs, and kubeconfig files with the
// credentials in them.
//
// It must not know which components there are; callers name the certificates.
package pki
