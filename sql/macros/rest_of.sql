-- The days that a URL rests after an outcome that it met so many times in a row; NULL if it does not.
CREATE OR REPLACE MACRO rest_of(days, outcome, streak) AS days[outcome][least(streak, len(days[outcome]))];
