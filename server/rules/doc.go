// Package rules validates requests against the rules in the proto files of the API, before a
// service is called.
//
// It must not know rules that cannot be stated there.
package rules
