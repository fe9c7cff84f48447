// Package access tells who calls, and what they may do: as Kubernetes knows its
// users, and as its RBAC says. Identities come from client certificates and from
// tokens (TokenReview), rights from SubjectAccessReviews of virtual resources,
// which exist in roles only. One table names what each method of the server needs.
//
// It must not know what the services answer, nor how the server listens.
package access
