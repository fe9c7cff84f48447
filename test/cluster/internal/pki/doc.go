// Package pki creates the keys and certificates of one throwaway cluster: a certificate
// authority, the certificates that it signs, and kubeconfig files that embed the
// credentials.
//
// It must not know which components exist; callers name the certificates.
package pki
