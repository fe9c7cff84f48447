package errors

import (
	"slices"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
)

// Reason is a reason in an ErrorInfo. This package defines all reasons.
type Reason struct {
	name    string
	code    codes.Code
	general bool
	meaning string
	// subject names the thing that fails a precondition; empty for other codes.
	subject string
}

// String returns the name, e.g. "POD_NOT_FOUND".
func (r *Reason) String() string { return r.name }

// Code returns the code of every error with the reason.
func (r *Reason) Code() codes.Code { return r.code }

// CodeName returns the code as the documentation of the API has it, e.g. "NOT_FOUND".
func (r *Reason) CodeName() string { return code.Code(r.code).String() }

// General reports whether any method can return the reason, so that the descriptions of
// methods do not name it.
func (r *Reason) General() bool { return r.general }

// Meaning returns what the reason means and what to do, as half a sentence in Markdown.
func (r *Reason) Meaning() string { return r.meaning }

var reasons []*Reason

// Reasons returns all reasons, in the order of the documentation.
func Reasons() []*Reason { return slices.Clone(reasons) }

// of returns a reason that is documented by the methods that return it.
func of(c codes.Code, name, meaning string) *Reason {
	r := &Reason{name: name, code: c, meaning: meaning}
	reasons = append(reasons, r)
	return r
}

// general returns a reason that any method can return.
func general(c codes.Code, name, meaning string) *Reason {
	r := of(c, name, meaning)
	r.general = true
	return r
}

// about sets what fails a precondition.
func (r *Reason) about(subject string) *Reason {
	r.subject = subject
	return r
}
