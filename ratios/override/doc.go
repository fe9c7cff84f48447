// Package override is the provider of the ratios that people set through the API.
// It keeps them in one ConfigMap, with who changed what and why, and changes them
// so that no writer of any replica undoes what another has written.
//
// It must not know other providers, nor who may change ratios.
package override
