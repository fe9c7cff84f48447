package errors

import (
	"slices"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
)

// Reason is what an ErrorInfo names. There are no others than those of this
// package.
type Reason struct {
	name    string
	code    codes.Code
	general bool
	meaning string
	// subject is what fails a precondition; empty of other codes.
	subject string
}

// String returns the name, e.g. "POD_NOT_FOUND".
func (r *Reason) String() string { return r.name }

// Code returns the code of every error with the reason.
func (r *Reason) Code() codes.Code { return r.code }

// CodeName returns the code as the API's documents have it, e.g. "NOT_FOUND".
func (r *Reason) CodeName() string { return code.Code(r.code).String() }

// General tells that methods answer it whatever they do, so that their
// descriptions do not name it.
func (r *Reason) General() bool { return r.general }

// Meaning returns what it means and what to do, half a sentence in Markdown.
func (r *Reason) Meaning() string { return r.meaning }

var reasons []*Reason

// Reasons returns all reasons, in the order in which people read them.
func Reasons() []*Reason { return slices.Clone(reasons) }

// of is a reason that methods name which answer it.
func of(c codes.Code, name, meaning string) *Reason {
	r := &Reason{name: name, code: c, meaning: meaning}
	reasons = append(reasons, r)
	return r
}

// general is a reason that any method answers.
func general(c codes.Code, name, meaning string) *Reason {
	r := of(c, name, meaning)
	r.general = true
	return r
}

// about says what fails a precondition.
func (r *Reason) about(subject string) *Reason {
	r.subject = subject
	return r
}
