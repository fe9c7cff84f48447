package main

// The image has no certificate authorities of its own. For feeds over HTTPS, these are
// used if the system has none.
import _ "golang.org/x/crypto/x509roots/fallback"
