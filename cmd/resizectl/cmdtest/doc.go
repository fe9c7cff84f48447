// Package cmdtest supports the tests of the commands, and only they import it. It runs command lines as
// a shell does, and compares what a user would see with golden files. The server that commands call is a
// Fake, which has the methods that the API's descriptors have, and answers each as a test scripts. Of
// what it answers, this package has only what several packages of tests share.
//
// It must not know the commands, which its callers provide.
package cmdtest
