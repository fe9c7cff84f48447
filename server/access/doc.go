// Package access identifies callers and decides what they may do, based on the users and the
// RBAC of Kubernetes. Identities come from client certificates and from tokens (TokenReview).
// Rights come from SubjectAccessReviews of virtual resources, which exist only in roles. One
// table lists the rights that each method of the server needs.
//
// It must not know how the services answer, nor how the server listens.
package access
