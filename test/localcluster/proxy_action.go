package localcluster

// Action is how the proxy handles a request.
type Action int

const (
	// Forward forwards the request and the response.
	Forward Action = iota
	// ForwardThenCut forwards the request and, once the API server has responded, closes
	// the connection instead of forwarding the response.
	ForwardThenCut
	// ForwardThenHang forwards the request and never responds: the client still waits when
	// the test ends it.
	ForwardThenHang
	// CutBefore closes the connection without forwarding the request.
	CutBefore
	// HangBefore never responds and does not forward the request.
	HangBefore
	// CutWhileForwarding forwards the request and closes the connection after half a second.
	// Only watches take that long.
	CutWhileForwarding
	// ExpireWatch is for watches: it only responds that the resource version is too old
	// (410), so the client must list again.
	ExpireWatch
	// AnswerForbidden and the following actions respond in place of the API server and do
	// not forward the request. AnswerForbidden responds with 403.
	AnswerForbidden
	// AnswerConflict responds with 409.
	AnswerConflict
	// AnswerInvalid responds with 422.
	AnswerInvalid
	// AnswerTooManyRequests responds with 429, and asks to retry after a second.
	AnswerTooManyRequests
	// AnswerInternalError responds with 500.
	AnswerInternalError
	// AnswerUnavailable responds with 503.
	AnswerUnavailable
)

// String implements fmt.Stringer.
func (a Action) String() string {
	return [...]string{
		"forward", "forward then cut", "forward then hang", "cut before", "hang before", "cut while forwarding",
		"expire watch", "answer 403", "answer 409", "answer 422", "answer 429", "answer 500", "answer 503",
	}[a]
}
