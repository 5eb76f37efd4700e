-- Version 3. Extreme numbers of one log do not make the sum of a view fail.
DROP VIEW usage;
-- The tokens, each message once: in the session with most of them, the first of several.
CREATE VIEW usage AS
SELECT session, message_id, model, used_at, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
       cache_write_1h_tokens, reasoning_tokens, cost_usd
FROM message_usage AS used
WHERE message_id = '' OR session = (
    SELECT session FROM message_usage AS told
    WHERE told.message_id = used.message_id AND told.message_id <> ''
    GROUP BY session ORDER BY sum(CAST(output_tokens AS REAL)) DESC, session LIMIT 1
);
